/** Australian English: the order once more. */
import { enReview } from './en-review.ts'

export const audReview: typeof enReview = {
  review: { ...enReview.review, region: 'Data centre' },
}
