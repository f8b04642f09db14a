-- no-transaction
create index concurrently if not exists ticket_message_person
  on ticket_message (person_id) where person_id is not null;
