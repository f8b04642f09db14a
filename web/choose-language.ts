/**
 * Applies a language that the customer chooses: the whole screen changes at once, texts that the
 * server wrote are read again, and the account stores the choice.
 */
import type { QueryClient } from '@tanstack/react-query'
import type { Me } from '../contract/auth.ts'
import { call } from './api.ts'
import { setLanguage, type Language } from './i18n/index.ts'
import { meQuery } from './queries.ts'
import { session } from './session.ts'

/** The language that a visitor chose before signing in; the account takes it over. */
let chosen: Language | undefined

/** Resolves when the screen has its texts; the refetches continue in the background. */
export async function chooseLanguage(language: Language, queryClient: QueryClient): Promise<void> {
  await setLanguage(language)
  if (session.signedIn() && !session.locked()) keep(language, queryClient)
  else chosen = language
}

/** Sets the language after a sign-in: the one just chosen, or else the account's. */
export async function languageAtSignIn(user: Me, queryClient: QueryClient): Promise<void> {
  const language = chosen ?? user.language
  chosen = undefined
  await setLanguage(language)
  if (language !== user.language) keep(language, queryClient)
}

function keep(language: Language, queryClient: QueryClient): void {
  const read = (): void => void queryClient.invalidateQueries()
  // Loaded on demand: this part of the contract is only needed by the account's forms.
  import('../contract/account.ts')
    .then(({ changeAccount }) => call(changeAccount, { body: { language } }))
    .then(() => {
      queryClient.setQueryData(meQuery.queryKey, (me) => me && { ...me, language })
      read()
      // The screen keeps the chosen language; the account keeps its previous one.
    }, read)
}
