/**
 * Who is asked before something that bills or cannot be undone. `always`: everybody, by whatever
 * way there is. `auto`: whoever can be asked; clients that cannot ask get a preview first for calls
 * and deletes only. `never`: nobody.
 */
export const confirmModes = ['always', 'auto', 'never'] as const
export type ConfirmMode = (typeof confirmModes)[number]
