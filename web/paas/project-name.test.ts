import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isProjectName, isRepositoryAddress } from './project-name.ts'

test('a project name is a label of lower-case letters, digits and hyphens', () => {
  expect(['a', '7', 'project-demo', 'a--b', 'x'.repeat(63)].every(isProjectName)).toBe(true)
  expect(
    ['', '-a', 'a-', 'A', 'á', 'a b', 'a_b', 'a.b', 'x'.repeat(64), 'a\n'].some(isProjectName),
  ).toBe(false)
  fc.assert(
    fc.property(fc.string(), (text) => !isProjectName(text) || /^[a-z0-9-]{1,63}$/.test(text)),
  )
})

test('a repository address is https, has a host and a repository, and no password', () => {
  expect(
    [
      'https://git.example.com/a/b',
      'https://git.example.com/a/b.git',
      'https://git.example.com/g/sub/b',
    ].every(isRepositoryAddress),
  ).toBe(true)
  const bad = [
    '',
    'git.example.com/a/b',
    'http://git.example.com/a/b',
    'https://git.example.com/a',
    'https://localhost/a/b',
    'https://u:p@git.example.com/a/b',
    'javascript:alert(1)',
  ]
  expect(bad.filter(isRepositoryAddress)).toEqual([])
})
