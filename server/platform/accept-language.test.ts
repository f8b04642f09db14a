import { expect, test } from 'vitest'
import { acceptedLanguage } from './accept-language.ts'

test.each([
  [undefined, 'en'],
  ['', 'en'],
  ['vi', 'vi'],
  ['vi-VN', 'vi'],
  ['VI', 'vi'],
  ['en-AU', 'en'],
  ['vi, en', 'vi'],
  ['en, vi', 'en'],
  ['en;q=0.5, vi;q=0.9', 'vi'],
  ['en;q=0.9,vi;q=0.5', 'en'],
  ['fr, vi;q=0.3', 'vi'],
  ['fr, *;q=0.5', 'en'],
  ['*', 'en'],
  ['vi;q=0.3, *;q=0.5', 'en'],
  ['vi, *;q=0.5', 'vi'],
  ['vi;q=0, en;q=0.1', 'en'],
  ['vi;q=0', 'en'],
  ['vi ; q = x', 'en'],
  ['vi;Q=0.8, en;q=0.2', 'vi'],
  ['vietnamese', 'en'],
  [';;;,,,q=', 'en'],
])('Accept-Language: %s is %s', (header, language) => {
  expect(acceptedLanguage(header)).toBe(language)
})
