/** The accounts of a company: itself, and its branches below it. */
export const accountNames = {
  company: 'Northwind Dental Group',
  berlin: 'Berlin branch',
  hamburg: 'Hamburg branch',
  vienna: 'Vienna branch',
} as const
export type AccountKey = keyof typeof accountNames

/** Closed last year. */
export const disabledAccount: AccountKey = 'vienna'
