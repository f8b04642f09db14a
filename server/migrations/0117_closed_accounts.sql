-- When a customer closed the account: what was personal in it is gone since (decision 115).
alter table customer add column closed_at timestamptz;
