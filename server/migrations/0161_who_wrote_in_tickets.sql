-- Who works in the account of somebody else wrote the message: its author is forgotten with them.
alter table ticket_message add column person_id uuid references customer (id);
