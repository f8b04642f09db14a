import { expect, test } from 'vitest'
import { NotificationCursor } from './notification-cursor.ts'

const ids = (...list: string[]) => list.map((id) => ({ id }))

test('the first list is history: it sets the cursor and tells nothing', () => {
  const cursor = new NotificationCursor()
  expect(cursor.take(ids('c', 'b', 'a'))).toEqual([])
  expect(cursor.after).toBe('c')
})
test('later lists tell what is new, oldest first', () => {
  const cursor = new NotificationCursor()
  cursor.take(ids('a'))
  expect(cursor.take(ids('c', 'b'))).toEqual(ids('b', 'c'))
  expect(cursor.after).toBe('c')
})
test('what was pushed is told once, and does not move the cursor past what was missed', () => {
  const cursor = new NotificationCursor()
  cursor.take(ids('a'))
  expect(cursor.markSeen('c')).toBe(true)
  expect(cursor.after).toBe('a')
  expect(cursor.take(ids('c', 'b'))).toEqual(ids('b'))
  expect(cursor.markSeen('c')).toBe(false)
})
test('an empty history is history too: the first event after it is news', () => {
  const cursor = new NotificationCursor()
  expect(cursor.primed).toBe(false)
  expect(cursor.take([])).toEqual([])
  expect(cursor.primed).toBe(true)
  expect(cursor.after).toBeUndefined()
  expect(cursor.take(ids('a'))).toEqual(ids('a'))
})
