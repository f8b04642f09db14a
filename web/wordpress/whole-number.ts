/** Digits up to the first character that is none: "10.5" is never read as 105. */
export const wholeNumber = (text: string, digits: number): string => /^\s*(\d*)/.exec(text)?.[1]?.slice(0, digits) ?? ''
