import { useSyncExternalStore } from 'react'
import { useTexts } from '../i18n/index.ts'
import { idleChoices, lockAfter, onLockAfter, setLockAfter } from '../shell/idle-lock.ts'
import { Card } from '../ui/Card.tsx'
import { Field, Select } from '../ui/Field.tsx'

/**
 * After how long this browser's screen locks itself. The choice takes effect at once and is not
 * sent to the server.
 */
export function LockCard() {
  const t = useTexts('account')
  const minutes = useSyncExternalStore(onLockAfter, lockAfter)
  return (
    <Card title={t.account.lock} sub={t.account.lockSub}>
      <Field label={t.account.lockAfter}>
        {(control) => (
          <Select
            {...control}
            value={minutes}
            onChange={(event) => setLockAfter(Number(event.target.value))}
          >
            {idleChoices.map((choice) => (
              <option key={choice} value={choice}>
                {t.account.lockChoice(choice)}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </Card>
  )
}
