import { designAgent } from './design-agent.ts'
import { goLiveChecklist } from './go-live-checklist.ts'
import { investigateCall } from './investigate-call.ts'
import { migrateNumbers } from './migrate-numbers.ts'
import { reviewAgent } from './review-agent.ts'
import { reviewCalls } from './review-calls.ts'
import { weeklyUsageReport } from './weekly-usage-report.ts'

/** Every prompt, in the order of `prompts/list`. */
export const prompts = [
  designAgent,
  reviewAgent,
  goLiveChecklist,
  investigateCall,
  reviewCalls,
  weeklyUsageReport,
  migrateNumbers,
]
