-- A customer who looks at a payment is told that its money waits in suspense.
create index payment_suspense_waiting on payment_suspense (driver, code) where resolved_at is null;
