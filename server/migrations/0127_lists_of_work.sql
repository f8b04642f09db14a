-- Letters that may be sent again, and webhooks of gateways that may be handled again (decision
-- 114).

-- A letter that is sent again is a row of its own, which names the first one. `failure`: what the
-- newest try failed with.
alter table message add column resent_of uuid;
alter table message add column failure text;
-- The text of a letter for some days after it was sent or given up, sealed as before; never that of
-- a one-time code.
create table message_kept (
  message_id uuid primary key references message (id) on delete cascade,
  sealed_text bytea not null,
  kept_until timestamptz not null
);
create index message_kept_until on message_kept (kept_until);

-- What a verified webhook says, as its driver read it; null for a forged one, for one that concerns
-- no payment, and for those of earlier releases.
alter table payment_notice add column event jsonb;
alter table payment_notice add column replayed_at timestamptz;
alter table payment_notice add column replay_outcome text;
