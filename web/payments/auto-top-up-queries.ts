import { queryOptions } from '@tanstack/react-query'
import { getAutoTopUp } from '../../contract/auto-top-up.ts'
import { call } from '../api.ts'
import { enAutoTopUp, type AutoTopUpTexts } from '../i18n/en-auto-top-up.ts'
import { useLanguage } from '../i18n/index.ts'
import { viAutoTopUp } from '../i18n/vi-auto-top-up.ts'

/** Read again when money comes, and when something of it is told. */
export const autoTopUpQuery = queryOptions({
  queryKey: ['auto-top-up'],
  queryFn: ({ signal }) => call(getAutoTopUp, {}, { signal }),
})

/** With the chunk that needs them: where no cards are offered nobody loads them. */
export const useAutoTopUpTexts = (): AutoTopUpTexts =>
  useLanguage() === 'vi' ? viAutoTopUp : enAutoTopUp
