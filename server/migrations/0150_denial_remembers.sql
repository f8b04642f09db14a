-- What the account was reached by when the letter was sent: whoever says that it was not them gets
-- it back, where it was changed since. Null: a letter of an older release.
alter table sign_in_denial add column email text, add column phone text;
