-- Where an answer to a letter goes, if not to its sender.
alter table message add column reply_to text;
