/**
 * A language that the customer chooses: the whole screen follows at once, what the server wrote in
 * the other language is read anew, and the choice stays with the account.
 */
import type { QueryClient } from '@tanstack/react-query'
import type { Me } from '../contract/auth.ts'
import { call } from './api.ts'
import { setLanguage, type Language } from './i18n/index.ts'
import { meQuery } from './queries.ts'
import { session } from './session.ts'

/** What a visitor chose before signing in; the account takes it over. */
let chosen: Language | undefined

/** Resolves when the screen has its texts; the rest follows behind it. */
export async function chooseLanguage(language: Language, queryClient: QueryClient): Promise<void> {
  await setLanguage(language)
  if (session.signedIn() && !session.locked()) keep(language, queryClient)
  else chosen = language
}

/** The language of whoever has just signed in: chosen a moment ago, else the account's. */
export async function languageAtSignIn(user: Me, queryClient: QueryClient): Promise<void> {
  const language = chosen ?? user.language
  chosen = undefined
  await setLanguage(language)
  if (language !== user.language) keep(language, queryClient)
}

function keep(language: Language, queryClient: QueryClient): void {
  const read = (): void => void queryClient.invalidateQueries()
  // What only an account's forms need of the contract is fetched when it is needed.
  import('../contract/account.ts')
    .then(({ changeAccount }) => call(changeAccount, { body: { language } }))
    .then(() => {
      queryClient.setQueryData(meQuery.queryKey, (me) => me && { ...me, language })
      read()
      // The screen has the language all the same; the account keeps the one of before.
    }, read)
}
