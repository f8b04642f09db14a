/** Customer-facing text, in both languages. */
import type { Language } from '../../../contract/errors.ts'

export type Sentence = Readonly<Record<Language, string>>
