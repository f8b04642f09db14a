import { useMutation, useQueryClient } from '@tanstack/react-query'
import { deviceOf } from '../../contract/device.ts'
import { forgetDevice, type Security } from '../../contract/second-factor.ts'
import { call, messageOf } from '../api.ts'
import { formatDay } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Empty } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { securityQuery } from './queries.ts'

type Device = Security['devices'][number]

export function DevicesCard({ devices }: { devices: Device[] }) {
  const t = useTexts('security')
  return (
    <Card title={t.security.devices} sub={t.security.devicesSub} padded={false}>
      {devices.length === 0 ? <Empty text={t.security.noDevices} /> : null}
      {devices.length > 0 ? (
        <ul className="divide-y divide-border border-t border-border">
          {devices.map((device) => (
            <Row key={device.id} device={device} />
          ))}
        </ul>
      ) : null}
    </Card>
  )
}

function Row({ device }: { device: Device }) {
  const t = useTexts('security')
  const queryClient = useQueryClient()
  const { browser, system } = deviceOf(device.userAgent)
  const name =
    browser !== undefined && system !== undefined
      ? t.security.onSystem(browser, system)
      : (browser ?? system ?? t.security.unknownDevice)
  const forget = useMutation({
    mutationFn: () => call(forgetDevice, { params: { id: device.id } }),
    onSuccess: () => toast.success(t.toast.success, t.security.forgotten),
    onError: (error) => toast.error(t.toast.error, messageOf(error)),
    onSettled: () => queryClient.invalidateQueries(securityQuery),
  })
  return (
    <li className="flex items-center justify-between gap-3 px-5 py-3">
      <div className="min-w-0">
        <p className="text-sm font-medium">{name}</p>
        <p className="num text-xs wrap-anywhere text-ink-3">
          {device.ip} · {t.security.until}{' '}
          <time dateTime={device.expiresAt} className="whitespace-nowrap">
            {formatDay(device.expiresAt)}
          </time>
        </p>
      </div>
      <Button
        variant="ghost"
        size="sm"
        aria-label={t.security.removeOf(name)}
        busy={forget.isPending}
        onClick={() => forget.mutate()}
      >
        {t.security.remove}
      </Button>
    </li>
  )
}
