-- Subscriptions that renew, are reminded, suspended and end by themselves.
alter table subscription
  drop constraint subscription_status_check,
  add constraint subscription_status_check check (status in ('pending', 'active', 'past_due', 'suspended', 'ended')),
  add column product text,
  add column region_code text,
  -- Periods are counted from here in whole months, by the time zone of the region: the running one ends `months` months later.
  add column anchor_at timestamptz,
  add column months int not null default 1 check (months > 0),
  -- What the price is computed from (contract/pricing.ts, Terms), and what a line says of it; both as of the last price change.
  add column terms jsonb,
  add column description jsonb not null default '{"en": "", "vi": ""}',
  -- What it is about, for events: { wp: { id, name } } or null.
  add column subject jsonb,
  -- A change that takes effect at the renewal: { change, starts }.
  add column planned jsonb,
  add column cancel_at_period_end boolean not null default false,
  -- The newest order or renewal invoice.
  add column invoice_id uuid references invoice (id),
  -- When the sweep must look at it next: the renewal, or the next step against one that is unpaid.
  add column next_at timestamptz,
  -- Days after the due moment of the last reminder that was sent.
  add column reminded int,
  add column ended_at timestamptz;

update subscription s
set product = 'wordpress',
    region_code = c.region_code,
    anchor_at = coalesce(s.period_start, s.created_at),
    period_start = coalesce(s.period_start, s.created_at),
    period_end = coalesce(s.period_end, s.created_at + interval '1 month'),
    next_at = coalesce(s.period_end, s.created_at + interval '1 month')
from customer c
where c.id = s.customer_id;

update subscription s
set invoice_id = i.id,
    subject = i.subject,
    terms = l.basis - 'seconds' - 'of_seconds',
    description = jsonb_build_object('en', l.description_en, 'vi', l.description_vi)
from invoice i join invoice_line l on l.invoice_id = i.id and l.position = 0
where i.subscription_id = s.id;

alter table subscription
  drop column anchor_day,
  alter column product set not null,
  alter column region_code set not null,
  alter column anchor_at set not null,
  alter column period_start set not null,
  alter column period_end set not null,
  alter column next_at set not null,
  alter column description drop default,
  alter column months drop default,
  add check (period_start < period_end);
create index subscription_due on subscription (next_at) where status in ('active', 'past_due', 'suspended');
create index subscription_live on subscription (customer_id) where status in ('active', 'past_due', 'suspended');

alter table invoice
  add column kind text not null default 'order' check (kind in ('order', 'renewal', 'proration', 'credit')),
  -- The period of a renewal.
  add column period_start timestamptz,
  add column period_end timestamptz,
  -- What the subscription costs from the payment on: { price, terms, description }.
  add column sets jsonb,
  -- The tax that its amounts contain, frozen: name and rate in hundredths of a percent.
  add column tax_name text not null default '',
  add column tax_rate int not null default 0 check (tax_rate >= 0),
  drop constraint invoice_total_check,
  drop constraint invoice_check,
  -- A credit note gives back: both of its amounts are below zero, and nothing is due.
  add constraint invoice_amounts check (
    case when kind = 'credit' then total <= 0 and amount_paid = total else total >= 0 and amount_paid between 0 and total end
  );
alter table invoice alter column kind drop default, alter column tax_name drop default, alter column tax_rate drop default;
-- One renewal a subscription and period, whatever runs twice.
create unique index invoice_of_period on invoice (subscription_id, period_start) where kind = 'renewal';
create index invoice_open_of_subscription on invoice (subscription_id) where status = 'open';

-- The tax that a line's amount contains, minor units.
alter table invoice_line add column tax bigint not null default 0;
alter table invoice_line alter column tax drop default;

-- A server that is deleted keeps its row for its invoices, and its name.
alter table site add column deleted_at timestamptz;
create index site_of_subscription on site (subscription_id);

-- The smallest number of days left that a customer was warned of; none while the wallet lasts longer.
create table runway_warning (
  customer_id uuid primary key references customer (id),
  days int not null
);

-- How far the portal's clock stands from the wall's, milliseconds. Only a portal with the sandbox reads it.
create table clock_offset (
  one boolean primary key default true check (one),
  offset_ms bigint not null
);
