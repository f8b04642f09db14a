import { enTeam, type TeamTexts } from '../i18n/en-team.ts'
import { useLanguage } from '../i18n/index.ts'
import { viTeam } from '../i18n/vi-team.ts'

/** With the chunk that needs them, for every other screen has no use for them. */
export const useTeamTexts = (): TeamTexts => (useLanguage() === 'vi' ? viTeam : enTeam)
