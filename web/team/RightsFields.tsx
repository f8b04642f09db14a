import { limitedRoles, memberRoles, type MemberRole } from '../../contract/member-roles.ts'
import { Chosen } from '../programs/Chosen.tsx'
import { choosableDomainsQuery, choosableServersQuery } from '../programs/choosable.ts'
import { Field, Select } from '../ui/Field.tsx'
import { useTeamTexts } from './texts.ts'

export interface Rights {
  role: MemberRole
  onlyServers: string[] | null
  onlyDomains: string[] | null
}

/** The body of the call: a role for the whole account has no limits. */
export const rightsBody = ({ role, onlyServers, onlyDomains }: Rights) => ({
  role,
  servers: limitedRoles.has(role) ? onlyServers : null,
  domains: limitedRoles.has(role) ? onlyDomains : null,
})

interface RightsFieldsProps {
  values: Rights
  errors: Record<string, string>
  onRole: (role: MemberRole) => void
  onServers: (ids: string[] | null) => void
  onDomains: (ids: string[] | null) => void
}

/** Fields for what a member may do, and on which servers and domains. */
export function RightsFields({ values, errors, onRole, onServers, onDomains }: RightsFieldsProps) {
  const t = useTeamTexts()
  return (
    <>
      <Field label={t.role} error={errors['role']} hint={t.roleHints[values.role]}>
        {(control) => (
          <Select
            {...control}
            value={values.role}
            onChange={(event) => onRole(event.target.value as MemberRole)}
          >
            {memberRoles.map((role) => (
              <option key={role} value={role}>
                {t.roles[role]}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {limitedRoles.has(values.role) ? (
        <>
          <Chosen
            label={t.onlyServers}
            empty={t.noServers}
            query={choosableServersQuery}
            chosen={values.onlyServers}
            error={errors['servers']}
            onChange={onServers}
          />
          <Chosen
            label={t.onlyDomains}
            empty={t.noDomains}
            query={choosableDomainsQuery}
            chosen={values.onlyDomains}
            error={errors['domains']}
            onChange={onDomains}
          />
          {values.onlyServers !== null || values.onlyDomains !== null ? (
            <p className="text-xs text-ink-2">{t.limitedHint}</p>
          ) : null}
        </>
      ) : null}
      {values.role === 'technical' || values.role === 'owner' ? (
        <p className="text-xs text-ink-3">{t.technicalHint}</p>
      ) : null}
    </>
  )
}
