import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { PagedRows } from './paged-rows.ts'

test('any part of any pages is what an array of them would give', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.integer(), { maxLength: 5 }), { maxLength: 8 }),
      fc.nat(45),
      fc.nat(45),
      (pages, begin, end) => {
        const rows = new PagedRows(pages)
        expect(rows.length).toBe(pages.flat().length)
        expect(rows.slice(begin, end)).toEqual(pages.flat().slice(begin, end))
      },
    ),
  )
})
