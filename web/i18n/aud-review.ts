/** Australian English: the review of the order. */
import { enReview } from './en-review.ts'

export const audReview: typeof enReview = {
  review: { ...enReview.review, region: 'Data centre' },
}
