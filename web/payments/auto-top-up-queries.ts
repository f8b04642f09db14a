import { queryOptions } from '@tanstack/react-query'
import { getAutoTopUp } from '../../contract/auto-top-up.ts'
import { call } from '../api.ts'
import { enAutoTopUp, type AutoTopUpTexts } from '../i18n/en-auto-top-up.ts'
import { useLanguage } from '../i18n/index.ts'
import { viAutoTopUp } from '../i18n/vi-auto-top-up.ts'

/** Refetched when money arrives, and when an event about automatic top-up arrives. */
export const autoTopUpQuery = queryOptions({
  queryKey: ['auto-top-up'],
  queryFn: ({ signal }) => call(getAutoTopUp, {}, { signal }),
})

/**
 * These texts are in the chunk that uses them, so they are not loaded where no cards are offered.
 */
export const useAutoTopUpTexts = (): AutoTopUpTexts =>
  useLanguage() === 'vi' ? viAutoTopUp : enAutoTopUp
