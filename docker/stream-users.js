// Creates the user for OneHop's change streams (onehop-streams) on the config servers and on every shard. The user has
// a role with the fewest possible privileges, which the script creates, too.
//
//   mongosh "mongodb://admin@mongos:27017/?authSource=admin" --file docker/stream-users.js
//
// The URI names a mongos or the config servers' primary. Environment variables:
//   ONEHOP_USER, ONEHOP_PASSWORD    the user to create; the script asks for a password that is not set
//   ONEHOP_AUTH_DATABASE            the user's authentication database (admin); $external for X.509, without a password
//   ONEHOP_WATCH                    the data that the user may watch, comma-separated: shop.orders for a collection, shop
//                                   for a database, * for the whole cluster
//   ONEHOP_HEARTBEATS               no: without appendOplogNote and getShardMap; events then wait longer for idle shards
//   ONEHOP_LOOKUPS                  yes: also the privileges for fullDocument UPDATE_LOOKUP, which reads over a mongos
//   ONEHOP_SHARD_ADMIN, ONEHOP_SHARD_ADMIN_PASSWORD   an administrator on each shard, who may create users and roles. A
//                                   cluster's users are stored on its config servers only, so create this administrator
//                                   once on each shard, over the localhost exception
//   ONEHOP_SHARD_OPTIONS            options of the shards' URIs, such as tls=true&tlsCAFile=/etc/ssl/ca.pem
//
// A second run updates the password and the privileges.

const need = name => {
  const value = process.env[name];
  if (!value) throw new Error('set ' + name);
  return value;
};
const password = (name, of) => {
  if (process.env[name]) return process.env[name];
  print('password of ' + of + ':');
  return passwordPrompt();
};

const user = need('ONEHOP_USER');
const authDatabase = process.env.ONEHOP_AUTH_DATABASE || 'admin';
const heartbeats = process.env.ONEHOP_HEARTBEATS !== 'no';
const lookups = process.env.ONEHOP_LOOKUPS === 'yes';
const shardAdmin = need('ONEHOP_SHARD_ADMIN');
const role = 'onehop-streams of ' + user;
const watched = need('ONEHOP_WATCH').split(',').map(each => {
  const name = each.trim();
  const dot = name.indexOf('.');
  if (name === '*') return {db: '', collection: ''};
  return dot < 0 ? {db: name, collection: ''} : {db: name.substring(0, dot), collection: name.substring(dot + 1)};
});
const may = (actions, resources) => resources.map(resource => ({resource, actions}));

const hello = db.adminCommand({hello: 1});
if (hello.msg !== 'isdbgrid' && !hello.configsvr) throw new Error('this is neither a mongos nor a config server');

const credential = authDatabase === '$external' ? {} : {pwd: password('ONEHOP_PASSWORD', user)};
const shardAdminPassword = password('ONEHOP_SHARD_ADMIN_PASSWORD', shardAdmin + ' on the shards');

function makeUser(connection, privileges, roles) {
  const admin = connection.getDB('admin');
  if (admin.getRole(role)) {
    admin.updateRole(role, {privileges, roles: []});
  } else {
    admin.createRole({role, privileges, roles: []});
  }
  const database = connection.getDB(authDatabase);
  const all = [{role, db: 'admin'}, ...roles];
  if (database.getUser(user)) {
    database.updateUser(user, {...credential, roles: all});
  } else {
    database.createUser({user, ...credential, roles: all});
  }
}

// The privileges to read the owners of the data.
makeUser(db.getMongo(), [
  ...may(['find'], ['collections', 'chunks', 'databases', 'shards'].map(collection => ({db: 'config', collection}))),
  // To find the shards that were removed after a checkpoint.
  ...may(['find', 'changeStream'], [{db: 'config', collection: 'changelog'}]),
  ...(heartbeats ? may(['appendOplogNote'], [{cluster: true}]) : []),
  ...(lookups ? may(['find'], watched) : [])], []);
print('config servers: ' + user + ' has its roles');

for (const shard of db.getSiblingDB('config').shards.find().toArray()) {
  const [set, hosts] = shard.host.split('/');
  const uri = 'mongodb://' + encodeURIComponent(shardAdmin) + ':' + encodeURIComponent(shardAdminPassword) + '@' +
    hosts + '/?replicaSet=' + set + '&authSource=admin' +
    (process.env.ONEHOP_SHARD_OPTIONS ? '&' + process.env.ONEHOP_SHARD_OPTIONS : '');
  const connection = Mongo(uri);
  const major = Number(connection.getDB('admin').runCommand({buildInfo: 1}).versionArray[0]);
  makeUser(connection, [
    ...may(['find', 'changeStream'], watched),
    // To read the oldest time in the oplog, for the report of lost history.
    ...may(['find'], [{db: 'local', collection: 'oplog.rs'}]),
    ...(heartbeats ? may(['appendOplogNote', 'getShardMap'], [{cluster: true}]) : [])],
    // From 8.0 on, a user needs this role for operations that do not come from a mongos.
    major >= 8 ? [{role: 'directShardOperations', db: 'admin'}] : []);
  print(shard._id + ': ' + user + ' has its roles' + (major >= 8 ? ', with directShardOperations' : ''));
}
