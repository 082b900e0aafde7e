/** What was measured, by name with its unit: `health, ms`. */
export type Figures = Readonly<Record<string, number | string>>
