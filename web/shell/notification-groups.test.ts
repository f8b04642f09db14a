import { expect, test } from 'vitest'
import type { EventName, Notification } from '../../contract/realtime.ts'
import { enEvents } from '../i18n/en-events.ts'
import { en } from '../i18n/en.ts'
import { viEvents } from '../i18n/vi-events.ts'
import { vi } from '../i18n/vi.ts'
import { grouped, unreadEntries } from './notification-groups.ts'
import { headOf, notificationText } from './notification-text.ts'

let id = 0
/** `minutes`: how long ago. */
const told = (minutes: number, event: EventName, wp?: object, read = false): Notification => ({
  id: String(++id),
  event,
  title: event,
  payload: wp ? { wp } : {},
  read,
  createdAt: new Date(Date.UTC(2026, 0, 2) - minutes * 60_000).toISOString(),
})
const names = (groups: Notification[][]) =>
  groups.map((group) => group.map(({ event }) => event).join(' '))

test('what one order tells within minutes is one entry, headed by how the server is', () => {
  const list = [
    told(1, 'subscription.created', { id: 'a' }),
    told(2, 'wordpress.status', { id: 'a', status: 'running' }),
    told(3, 'wallet.credited'),
    told(4, 'invoice.paid', { id: 'a' }),
    told(4, 'invoice.paid', { id: 'b' }),
    told(5, 'subscribe.create', { id: 'a' }),
    told(40, 'invoice.paid', { id: 'a' }),
  ]
  expect(names(grouped(list))).toEqual([
    'subscription.created wordpress.status invoice.paid subscribe.create',
    'wallet.credited',
    'invoice.paid',
    'invoice.paid',
  ])
  expect(headOf(list.slice(0, 2))?.event).toBe('wordpress.status')
  expect(headOf([...list.slice(0, 1), ...list.slice(3, 4)])?.event).toBe('invoice.paid')
})

test('what went wrong stands by itself', () => {
  const list = [
    told(1, 'subscription.updated', { id: 'a' }),
    told(1, 'wordpress.status', { id: 'a', status: 'failed' }),
    told(2, 'invoice.payment_failed', { id: 'a' }),
    told(2, 'wordpress.disk', { id: 'a' }),
    told(3, 'invoice.create', { id: 'a' }),
  ]
  expect(names(grouped(list))).toEqual([
    'subscription.updated invoice.create',
    'wordpress.status',
    'invoice.payment_failed',
    'wordpress.disk',
  ])
})

test('unread are the entries that are shown, and those that are not loaded', () => {
  const list = [
    told(1, 'invoice.paid', { id: 'a' }),
    told(1, 'invoice.create', { id: 'a' }),
    told(2, 'wallet.credited'),
    told(3, 'wallet.low', undefined, true),
  ]
  expect(unreadEntries(list, 3)).toBe(2)
  expect(unreadEntries(list, 5)).toBe(4)
  // The list is marked as read while it is open.
  expect(unreadEntries(list, 0)).toBe(0)
  expect(unreadEntries(list, 1)).toBe(1)
})

test('the bell says in each language that a server was deleted', () => {
  const gone = told(1, 'wordpress.status', { id: 'a', name: 'shop', status: 'deleted' })
  expect(notificationText(gone, { ...en, ...enEvents }, 'en')).toBe('shop: Deleted')
  expect(notificationText(gone, { ...vi, ...viEvents }, 'vi')).toBe('shop: Đã xoá')
})
