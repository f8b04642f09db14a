/** Tokens by which a customer's programs call the API, each with its scopes and limits. */
export { defineEndingLetters } from './letters.ts'
export { routes } from './routes.ts'
export {
  dropOldTokens,
  endTokens,
  identifyToken,
  listTokens,
  nameOfToken,
  revokeNamedToken,
  tokenBeginning,
} from './tokens.ts'
