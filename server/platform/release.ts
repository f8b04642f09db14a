/**
 * The number of this release. A database names the oldest release that it can run (decision 51).
 * The number is raised by one with every release that operators get. A migration that takes
 * something away names the first release that no longer needs it. Every release from before the
 * number existed counts as 1.
 */
export const releaseNumber = 3
