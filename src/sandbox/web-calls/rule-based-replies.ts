import { firstCharacters } from '../../text/safe-text.ts'

/*
 * Scripted replies to a typing person, used without a language model.
 */

/** The simulated agent's next turn. */
export interface Reply {
  readonly text: string
  /** True if the agent ends the call. */
  readonly isOver: boolean
}

/** The agent that speaks. */
export interface Speaker {
  readonly name: string | null
  readonly note: string | null
  /** False: the replies are in English. */
  readonly isGerman: boolean
}

type Answer = (speaker: Speaker, said: string) => string

/** A rule applies if its pattern matches; the first match wins. */
interface Rule {
  readonly pattern: RegExp
  readonly answer: Answer
  readonly isOver?: boolean
}

interface Phrases {
  readonly rules: readonly Rule[]
  readonly question: Answer
  /** Fallback answers, used in turn. */
  readonly others: readonly Answer[]
}

const english: Phrases = {
  rules: [
    {
      pattern: /\b(?:good ?bye|bye|that(?:'s| is) all|see you)\b/i,
      answer: ({ name }) => `Thank you for talking to ${name || 'us'}. Goodbye!`,
      isOver: true,
    },
    {
      pattern: /\b(?:human|real person|someone else|robot|bot|who are you|simulated)\b/i,
      answer: ({ name }) =>
        `I am ${name || 'a voice agent'}, simulated by the sandbox: I answer by simple rules, and nobody else is on the line.`,
    },
    {
      pattern: /\b(?:help me|what can you do|what do you do)\b/i,
      answer: ({ note }) =>
        note
          ? `This is what I am here for: ${note}`
          : 'Ask me anything that you would ask my agent.',
    },
    {
      pattern: /\b(?:appointment|book|booking|reserve|reservation|reschedule|table)\b/i,
      answer: () => 'I can note that for you. Which day and time would suit you?',
    },
    {
      pattern: /\b(?:order|deliver\w*|parcel|package|tracking)\b/i,
      answer: () => 'I will look into your order. Could you give me the order number, please?',
    },
    {
      pattern: /\b(?:price|cost|how much|invoice|bill|pay(?:ment)?)\b/i,
      answer: () => 'Prices are not in the sandbox, but I have noted that you ask for them.',
    },
    {
      pattern: /\b(?:open|opening|hours|close[ds]?)\b/i,
      answer: () => 'We are there from nine to six on weekdays, and until one on Saturdays.',
    },
    {
      pattern: /\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|today)\b/i,
      answer: () => 'That works. I have noted it. Is there anything else?',
    },
    { pattern: /\bthank(?:s| you)\b/i, answer: () => 'You are welcome. Is there anything else?' },
    { pattern: /^\s*(?:hello|hi|hey|good \w+)\b/i, answer: () => 'Hello! How can I help you?' },
    { pattern: /^\s*yes\b/i, answer: () => 'Good. Please go on.' },
    { pattern: /^\s*no\b/i, answer: () => 'All right. Then have a good day!' },
  ],
  question: (_, said) => `I cannot look that up in the sandbox, but I have noted it: “${said}”`,
  others: [
    (_, said) => `I understand: “${said}”. Would you like to add anything?`,
    () => 'I have noted that. What else can I do for you?',
    () => 'Thank you, I have that. Is there anything else?',
  ],
}

const german: Phrases = {
  rules: [
    {
      pattern: /tschüss|auf wiederhören|auf wiedersehen|das war(?:'s| es| alles)/i,
      answer: ({ name }) => `Danke für das Gespräch mit ${name || 'uns'}. Auf Wiederhören!`,
      isOver: true,
    },
    {
      pattern: /mensch|roboter|\bbot\b|wer (?:bist|sind)|simuliert/i,
      answer: ({ name }) =>
        `Ich bin ${name || 'ein Sprachagent'}, simuliert von der Sandbox: Ich antworte nach einfachen Regeln, und sonst ist niemand in der Leitung.`,
    },
    {
      pattern: /was (?:können|kannst)|helfen/i,
      answer: ({ note }) =>
        note
          ? `Dafür bin ich da: ${note}`
          : 'Fragen Sie mich, was Sie meinen Agenten fragen würden.',
    },
    {
      pattern: /termin|buchen|reserv|verschieben|tisch/i,
      answer: () => 'Das notiere ich gern. Welcher Tag und welche Uhrzeit passen Ihnen?',
    },
    {
      pattern: /bestell|liefer|paket|sendung/i,
      answer: () => 'Ich sehe nach Ihrer Bestellung. Wie lautet bitte die Bestellnummer?',
    },
    {
      pattern: /preis|kostet|kosten|rechnung|bezahl/i,
      answer: () => 'Preise hat die Sandbox nicht, aber ich habe Ihre Frage notiert.',
    },
    {
      pattern: /geöffnet|öffnungszeit|offen|geschlossen/i,
      answer: () => 'Wir sind werktags von neun bis achtzehn Uhr da, samstags bis dreizehn Uhr.',
    },
    {
      pattern: /montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|morgen|heute/i,
      answer: () => 'Das passt. Ich habe es notiert. Kann ich noch etwas für Sie tun?',
    },
    { pattern: /\bdanke/i, answer: () => 'Gern geschehen. Kann ich noch etwas für Sie tun?' },
    {
      pattern: /^\s*(?:hallo|guten \S+|moin|servus)/i,
      answer: () => 'Guten Tag! Wie kann ich helfen?',
    },
    { pattern: /^\s*ja\b/i, answer: () => 'Gut. Bitte erzählen Sie weiter.' },
    { pattern: /^\s*nein\b/i, answer: () => 'In Ordnung. Dann einen schönen Tag!' },
  ],
  question: (_, said) =>
    `Das kann ich in der Sandbox nicht nachsehen, aber ich habe es notiert: „${said}“`,
  others: [
    (_, said) => `Ich verstehe: „${said}“. Möchten Sie noch etwas hinzufügen?`,
    () => 'Das habe ich notiert. Was kann ich noch für Sie tun?',
    () => 'Danke, das habe ich. Gibt es sonst noch etwas?',
  ],
}

/** Maximum length of repeated caller text, characters. */
const longestEcho = 120

/** Rule-based answer; `turn` is the number of the person's earlier lines. */
export function replyByRules(said: string, speaker: Speaker, turn: number): Reply {
  const phrases = speaker.isGerman ? german : english
  const rule = phrases.rules.find(({ pattern }) => pattern.test(said))
  if (rule) return { text: rule.answer(speaker, said), isOver: rule.isOver ?? false }
  const echo = said.length > longestEcho ? `${firstCharacters(said, longestEcho)}…` : said
  const isQuestion = said.trimEnd().endsWith('?')
  const answer = isQuestion ? phrases.question : phrases.others[turn % phrases.others.length]
  return { text: answer?.(speaker, echo) ?? '', isOver: false }
}
