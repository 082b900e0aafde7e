/**
 * Who is asked before something that bills or cannot be undone. `always`: everybody, by whatever
 * way there is. `auto`: whoever can be asked; clients that cannot ask get a preview first for calls
 * and deletes only. `person`: a person, by the client's own dialogue; where there is none, it is
 * refused. `never`: nobody.
 */
export const confirmModes = ['always', 'auto', 'person', 'never'] as const
export type ConfirmMode = (typeof confirmModes)[number]
