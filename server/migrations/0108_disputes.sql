-- Disputes as their gateways have them, and what the operator answered (decision 109).
create table payment_dispute (
  id uuid primary key,
  driver text not null,
  -- The gateway's id.
  reference text not null,
  payment_id uuid not null references payment (id),
  state text not null check (state in ('needs_evidence', 'under_review', 'won', 'lost', 'closed')),
  -- The bank only asks: no money has moved.
  is_inquiry boolean not null,
  amount bigint not null,
  currency text not null,
  reason text not null,
  -- Null: the gateway does not say.
  fee bigint,
  money text not null check (money in ('kept', 'taken', 'returned')),
  opened_at timestamptz not null,
  evidence_due_at timestamptz,
  -- When it was last heard of, and when it was decided.
  seen_at timestamptz not null,
  closed_at timestamptz,
  number bigint generated always as identity,
  unique (driver, reference)
);
create index payment_dispute_of on payment_dispute (payment_id);
create index payment_dispute_number on payment_dispute (number);
create index payment_dispute_open on payment_dispute (evidence_due_at) where closed_at is null;

create table payment_dispute_answer (
  id uuid primary key,
  dispute_id uuid not null references payment_dispute (id),
  kind text not null check (kind in ('evidence', 'acceptance')),
  -- The evidence; empty for an acceptance.
  text text not null,
  -- requested: the gateway is being asked; unclear: nobody knows what it did.
  status text not null check (status in ('requested', 'done', 'refused', 'unclear')),
  detail text,
  created_at timestamptz not null,
  settled_at timestamptz
);
-- A dispute is answered once, unless the gateway refused the answer.
create unique index payment_dispute_answer_once on payment_dispute_answer (dispute_id)
  where status <> 'refused';
