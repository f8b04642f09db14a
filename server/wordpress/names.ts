/** Names that the server makes up: lower-case, readable, unique by their number. They become host names. */
import { randomInt } from 'node:crypto'

const first = ['amber', 'bamboo', 'bright', 'calm', 'cedar', 'clear', 'coral', 'dawn', 'fresh', 'gentle', 'golden', 'green', 'happy', 'jade', 'kind', 'lotus', 'lucky', 'maple', 'mint', 'misty', 'noble', 'ocean', 'pearl', 'quiet', 'rapid', 'river', 'silver', 'sunny', 'swift', 'violet', 'warm', 'willow']
const second = ['bay', 'bird', 'boat', 'bridge', 'brook', 'cloud', 'crane', 'delta', 'field', 'forest', 'garden', 'grove', 'harbor', 'hill', 'island', 'lake', 'lantern', 'leaf', 'meadow', 'moon', 'peak', 'pine', 'pond', 'reef', 'sail', 'shore', 'sky', 'star', 'stone', 'tiger', 'valley', 'wave']

const pick = (words: readonly string[]): string => words[randomInt(words.length)] ?? 'site'

/** About ten million of them; the database refuses one that is taken. */
export const newName = (): string => `${pick(first)}-${pick(second)}-${String(randomInt(10_000)).padStart(4, '0')}`
