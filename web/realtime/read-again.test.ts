import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { readAgain } from './read-again.ts'

/** A server that answers when told to, with what was true when the request came. */
function openServer() {
  const asked: ((answer: string) => void)[] = []
  const queryFn = () => new Promise<string>((resolve) => asked.push(resolve))
  return { asked, queryFn }
}
const queryKey = ['servers', 'list']

test('a first read that began before the event is repeated when it has ended', async () => {
  const queryClient = new QueryClient()
  const { asked, queryFn } = openServer()
  const observer = new QueryObserver(queryClient, { queryKey, queryFn })
  const seen: unknown[] = []
  const stop = observer.subscribe(({ data }) => seen.push(data))
  expect(asked).toHaveLength(1)
  readAgain(queryClient, 'servers')
  expect(asked).toHaveLength(1)
  asked[0]?.('deleting')
  await expect.poll(() => asked.length).toBe(2)
  asked[1]?.('gone')
  await expect.poll(() => seen.at(-1)).toBe('gone')
  stop()
  queryClient.clear()
})

test('what a page read before it was drawn is out of date when the page comes', async () => {
  const queryClient = new QueryClient()
  const { asked, queryFn } = openServer()
  const read = queryClient.prefetchQuery({ queryKey, queryFn })
  readAgain(queryClient, 'servers')
  asked[0]?.('deleting')
  await read
  await expect.poll(() => queryClient.getQueryState(queryKey)?.isInvalidated).toBe(true)
  queryClient.clear()
})

test('another subject is left alone', async () => {
  const queryClient = new QueryClient()
  const { asked, queryFn } = openServer()
  const read = queryClient.prefetchQuery({ queryKey, queryFn })
  readAgain(queryClient, 'invoices')
  asked[0]?.('running')
  await read
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toHaveLength(1)
  expect(queryClient.getQueryState(queryKey)?.isInvalidated).toBe(false)
  queryClient.clear()
})
