-- no-transaction
-- What one member did within a day.
create index concurrently if not exists operator_act_of_member on operator_act (staff_id, at);
