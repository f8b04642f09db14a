/** The queries of a server's console. */
import { queryOptions } from '@tanstack/react-query'
import { commandHistory } from '../../contract/wordpress-console.ts'
import { call } from '../api.ts'

export const commandsQuery = (id: string) =>
  queryOptions({
    queryKey: ['commands', id],
    queryFn: ({ signal }) => call(commandHistory, { params: { id } }, { signal }),
  })
