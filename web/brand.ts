/** The product's name, in the one place that an operator changes. */
export const brand = 'Let’s Panel'
