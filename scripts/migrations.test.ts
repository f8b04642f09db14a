import { expect, test } from 'vitest'
import { thisRelease } from '../server/platform/migrations.ts'
import { releaseNumber } from '../server/platform/release.ts'
import { faultsOf } from './migrations.ts'

const earlier = [
  {
    name: '0001_before',
    text: `create table thing (id int primary key);
      create function sum_of(a int, b numeric(10, 2)) returns bigint language sql as 'select 1';`,
  },
]
const judge = (text: string): string[] => faultsOf({ name: '0050_new', text }, earlier)
const contract = `-- contract: nobody reads it\n-- oldest-release: ${releaseNumber}\n`

test.each([
  'create table other (id int primary key); create index on other (id); alter table other drop id;',
  "alter table thing add column a int, add column b text not null default 'a; drop table thing';",
  'alter table thing add a uuid references other, alter column id set default 3;',
  'alter table thing add constraint a check (id > 0) not valid;',
  'alter table thing validate constraint a;',
  'alter table thing drop constraint a, add constraint a check (id > 1) not valid',
  '-- drop table thing;\n/* alter table thing rename to b; */ insert into thing values (1);',
  "create or replace function sum_of(a int, b numeric(10,2)) returns bigint language sql as '';",
  'create function new() returns trigger language plpgsql as $$ begin drop table a; end $$;',
  'create trigger a before insert on thing for each row execute function new();',
  '-- no-transaction\ncreate unique index concurrently if not exists a on thing (id);',
  `${contract}-- no-transaction\ndrop index concurrently if exists thing_id;`,
  `${contract}alter table thing drop column id; drop table other;`,
  `-- oldest-release: ${releaseNumber}\nupdate thing set id = 2;`,
  'alter table thing add constraint a unique using index thing_id;',
  'do $$ begin perform 1; end $$;',
])('may be: %s', (text) => {
  expect(judge(text)).toEqual([])
})

test.each([
  ['drop table thing;', 'drops the table thing'],
  ['DROP TABLE IF EXISTS "thing";', 'drops the table thing'],
  ['drop view a;', 'drops the view a'],
  ['drop function sum_of;', 'drops the function sum_of'],
  ['drop trigger a on thing;', 'drops the trigger a'],
  ['drop index concurrently if exists a;', 'drops the index a'],
  ['alter table thing drop column a;', 'drops a column'],
  ['alter table if exists only public.thing\n  add b int,\n  drop a;', 'drops a column'],
  ['alter table thing rename to other;', 'renames a table or column'],
  ['alter table thing rename a to b;', 'renames a table or column'],
  ["alter type mood rename value 'a' to 'b';", 'renames what it alters'],
  ['alter table thing alter column a type bigint;', "alters a column's type"],
  ['alter table thing alter a set data type bigint;', "alters a column's type"],
  ['alter table thing alter column a set not null;', 'sets a column not null'],
  ['alter table thing alter column a drop default;', "drops a column's default"],
  ['alter table thing add column a int not null;', 'not null and has no default'],
  ['alter table thing add a int not null check (a <> default_of(1));', 'has no default'],
  ['alter table thing set schema old;', 'moves a table'],
  ['alter table thing disable trigger a;', 'disables a trigger'],
  [
    "create or replace function sum_of(a int) returns bigint language sql as '';",
    'changes the signature of the function sum_of',
  ],
  [
    "create function sum_of(a int, b numeric(10, 2)) returns int language sql as '';",
    'changes the signature of the function sum_of',
  ],
])('an older release cannot bear: %s', (text, what) => {
  const faults = judge(text)
  expect(faults.filter((fault) => fault.endsWith('and is no contract')).join()).toContain(what)
  expect(judge(`${contract}${text}`).join()).not.toContain(what)
})

test.each([
  ['alter table thing add constraint a check (id > 0);', 'without `not valid`'],
  ['alter table thing add check (id > 0);', 'without `not valid`'],
  ['alter table thing add constraint a foreign key (id) references b;', 'without `not valid`'],
  ['alter table thing add constraint a unique (id);', 'makes an index'],
  ['alter table thing add primary key (id);', 'makes an index'],
  ['alter table thing add column a int check (a > 0);', 'a column with a constraint'],
  ['alter table thing add column a uuid default gen_random_uuid();', 'into every row'],
  ['alter table thing add column a bigserial;', 'into every row'],
  ['create index thing_a on thing (a);', 'without `concurrently`'],
  ['create unique index if not exists thing_a on only public.thing (a);', 'without `conc'],
  ['create index on thing (a);', 'without `concurrently`'],
  ['create table if not exists thing (); create index on thing (a);', 'without `concurrently`'],
  ['truncate thing;', 'locks a whole table'],
  ['lock table thing;', 'locks a whole table'],
  ['reindex table thing;', 'locks a whole table'],
  ['insert into thing values (1); commit; insert into thing values (2);', 'a transaction'],
  ["do $$ begin execute 'drop ' || 'table thing'; end $$;", 'in a `do`'],
  [
    'alter table thing add constraint a check (id > 0) not valid; ' +
      'alter table thing validate constraint a;',
    'validates a constraint beside',
  ],
])('makes writers wait, and no contract excuses it: %s', (text, what) => {
  expect(judge(text).join()).toContain(what)
  expect(judge(`${contract}${text}`).join()).toContain(what)
})

test.each([
  ['create index concurrently if not exists a on thing (id);', 'needs the header'],
  ['-- no-transaction\ncreate index concurrently a on thing (id);', 'may be repeated'],
  [
    '-- no-transaction\ncreate index concurrently if not exists a on thing (id); select 1;',
    'may be repeated',
  ],
  ['-- no-transaction\nupdate thing set id = 1;', 'may be repeated'],
  ['-- no-transaction', 'may be repeated'],
  ['-- contract: nobody reads it\ndrop table thing;', 'does not say which release'],
  ['-- contract:\n-- oldest-release: 2\ndrop table thing;', 'needs the reason'],
  ['-- oldest-release: next\nselect 1;', 'number of a release'],
  [`-- oldest-release: ${releaseNumber + 1}\nselect 1;`, 'and this one is'],
  ['-- oldest release: 2\nselect 1;', 'misspelt'],
  ['-- no transaction\nselect 1;', 'misspelt'],
  ['select 1;\n-- oldest-release: 2', 'misspelt'],
])('a header that is not right is refused: %s', (text, what) => {
  expect(judge(text).join()).toContain(what)
})

test('two files have not one number, and every breach of a file is named', () => {
  const text = 'drop table thing; create index on thing (id);'
  expect(faultsOf({ name: '0001_same', text }, earlier)).toEqual([
    'makes an index without `concurrently`',
    'drops the table thing, and is no contract',
    'has the number of another one',
  ])
})

test('the migrations from before the rule would be refused, so it reads real ones', async () => {
  const { migrations } = await thisRelease()
  const old = migrations.find(({ name }) => name === '0011_subscriptions')
  expect(old && faultsOf(old, [])).toEqual(
    expect.arrayContaining([
      'drops a column, and is no contract',
      'sets a column not null, and is no contract',
      'adds a constraint without `not valid`',
      'makes an index without `concurrently`',
    ]),
  )
})
