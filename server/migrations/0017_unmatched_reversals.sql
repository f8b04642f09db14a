-- A gateway's verified word about money that it moved back, and that fits no payment as it stands: nothing was posted, and somebody must look. The
-- row goes when the same word fits after all (a gateway may tell of two movements in the wrong order).
create table payment_reversal_unmatched (
  driver text not null,
  -- The gateway's id of the movement, and what it did.
  movement text not null,
  kind text not null check (kind in ('refunded', 'reversed', 'restored')),
  -- The payment's name at the gateway, where the word tells it.
  reference text,
  amount bigint not null,
  currency text not null,
  outcome text not null check (outcome in ('wrong_amount', 'unknown_order')),
  created_at timestamptz not null,
  primary key (driver, movement, kind)
);
