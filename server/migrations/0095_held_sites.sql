-- A server that the operator holds is suspended, whatever its subscription says (decision 91).
alter table site add column held_at timestamptz;
