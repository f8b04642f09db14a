/** The text of letters: omitted parts, and the conversion of HTML. */
import { expect, test } from 'vitest'
import { textOfHtml } from './html-text.ts'
import { newPart } from './read-letter.ts'

test('what is quoted is left out, what is written stays', () => {
  expect(newPart('Yes\n\nOn Monday An wrote:\n> old\n> older\n')).toBe('Yes')
  expect(newPart('Có\n\nVào 12:00, Hỗ trợ\nđã viết:\n> cũ')).toBe('Có')
  expect(newPart('A\n> quoted\nB')).toBe('A\n> quoted\nB')
  expect(newPart('Top\n--- Please write your answer above this line ---\nrest')).toBe('Top')
  expect(newPart('See\n\nHe wrote:')).toBe('See\n\nHe wrote:')
  expect(newPart('Yes\nOn Monday An wrote:\n> old')).toBe('Yes')
  expect(textOfHtml('<p>a<br>b</p><!-- c --><div>d</div><script>e')).toBe('a\nb\n\nd')
})

test('HTML of blanks is read in a time that grows with its length alone', () => {
  const begun = performance.now()
  for (const blank of ['<> ', '&nbsp;', '&#160;'])
    expect(textOfHtml(blank.repeat(Math.floor(900_000 / blank.length)))).toBe('')
  expect(performance.now() - begun).toBeLessThan(5000)
  expect(textOfHtml('a&#160;&nbsp; <br> &#xA0; b &nbsp; c')).toBe('a\nb c')
})
