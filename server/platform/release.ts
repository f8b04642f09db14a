/**
 * The number of this release, by which a database says what it demands (decision 51). It is raised
 * by one with every release that operators get: the migration that takes something away names the
 * first release that no longer needs it. Every release from before there was a number is 1.
 */
export const releaseNumber = 3
