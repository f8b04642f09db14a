-- The headers that a kept answer sets, such as the cookie of a sign-in: sealed JSON. Null: none.
alter table idempotency add column headers bytea;
