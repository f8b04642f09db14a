/** English: fields for a street and its place. */
import { plural } from './plural.ts'

export const enAddress = {
  address: {
    line: 'Address',
    place: 'City or district',
    placeHint: 'Type a few letters, with or without accents.',
    placesFound: (count: number) => plural(count, 'result', 'results'),
    places: 'Places',
    noPlace: 'No place found',
    placeChosen: (name: string) => `Chosen: ${name}`,
    clear: 'Clear the place',
  },
}
