/** Tokens for programs, as a customer of a test portal makes them, and a domain to use one on. */
import { expect } from 'vitest'
import type { Token } from '../contract/tokens.ts'
import type { TestCustomer, TestPortal } from './portal.ts'

type Made = { token: Token; secret: string }

/** For a portal that must be open when the functions are called. */
export function tokensAt(portal: () => TestPortal) {
  const make = (who: TestCustomer, wish: object) =>
    portal().call<Made>('POST', '/api/v1/account/tokens', {
      token: who.token,
      body: { name: 'a program', password: who.password, ...wish },
    })
  /** The secret of a new token. */
  const tokenFor = async (who: TestCustomer, wish: object): Promise<string> => {
    const made = await make(who, wish)
    expect(made.status, made.text).toBe(201)
    return made.body.result.secret
  }
  const list = async (who: TestCustomer): Promise<Token[]> =>
    (await portal().call<Token[]>('GET', '/api/v1/account/tokens', { token: who.token })).body
      .result
  const claim = async (who: TestCustomer, name: string): Promise<string> => {
    const made = await portal().call<{ id: string }>('POST', '/api/dns', {
      token: who.token,
      body: { name },
    })
    expect(made.status, made.text).toBe(201)
    return made.body.result.id
  }
  return { make, tokenFor, list, claim }
}
