/** Every call of the contract. */
import * as contract from '../contract/index.ts'

export const endpoints = Object.values(contract)
  .flatMap((part) => (typeof part === 'object' ? Object.values(part as object) : []))
  .filter(
    (one): one is contract.Endpoint =>
      typeof one === 'object' && one !== null && 'method' in one && 'path' in one,
  )
