import fc from 'fast-check'
import { expect, test } from 'vitest'
import { typedDomain } from './typed-domain.ts'

test('a domain may be typed as the address that a browser shows', () => {
  for (const typed of [
    'www.example.vn',
    ' https://www.example.vn/abc ',
    'HTTP://www.example.vn?a=b',
    'www.example.vn.',
    '{host}www.example.vn',
    'https://www.example.vn./#top',
  ])
    expect(typedDomain(typed)).toBe('www.example.vn')
  expect(typedDomain('https://')).toBe('')
})
test('what is a name already stays as it is', () => {
  fc.assert(fc.property(fc.domain(), (name) => typedDomain(name) === name))
})
