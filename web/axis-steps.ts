/**
 * A round step for an axis, so that three or four lines cover the highest value.
 * @param smallest no step is smaller: 1, or the minor units of one unit of money
 */
export function axisSteps(
  highest: number,
  smallest = 1,
): { readonly step: number; readonly top: number } {
  let step = smallest
  for (let power = smallest; ; power *= 10) {
    const found = [1, 2, 5]
      .map((factor) => factor * power)
      .find((candidate) => highest / candidate <= 3.4)
    if (found !== undefined) {
      step = found
      break
    }
  }
  return { step, top: Math.max(step, Math.ceil(highest / step) * step) }
}
