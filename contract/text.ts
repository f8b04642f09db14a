/** One line of text that people read: names, companies, streets. */
import * as z from 'zod/mini'

/**
 * Control characters (Cc: line breaks would write lines of their own into mails and logs), and the
 * bidirectional controls that make a name read as another one (Unicode TR 36, 3.2).
 */
const unfit = /[\p{Cc}\u{200E}\u{200F}\u{061C}\u{202A}-\u{202E}\u{2066}-\u{2069}]/u

/** Trimmed text of a length in characters, without control or bidirectional characters. */
export const oneLine = (minimum: number, maximum: number) =>
  z.string().check(
    z.trim(),
    z.minLength(minimum),
    z.maxLength(maximum),
    z.refine((text) => !unfit.test(text), {
      params: {
        en: 'Use one line without control characters.',
        vi: 'Chỉ dùng một dòng, không có ký tự điều khiển.',
      },
    }),
  )
