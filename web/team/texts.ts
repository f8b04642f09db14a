import { enTeam, type TeamTexts } from '../i18n/en-team.ts'
import { useLanguage } from '../i18n/index.ts'
import { viTeam } from '../i18n/vi-team.ts'

/** These texts are in the chunk that uses them, because no other screen needs them. */
export const useTeamTexts = (): TeamTexts => (useLanguage() === 'vi' ? viTeam : enTeam)
