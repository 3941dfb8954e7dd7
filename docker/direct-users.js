// Creates the user for OneHop's direct mode, with the same name and password on the config servers and on every shard.
//
//   mongosh "mongodb://admin@mongos:27017/?authSource=admin" --file docker/direct-users.js
//
// The URI names a mongos or the config servers' primary. Environment variables:
//   ONEHOP_USER, ONEHOP_PASSWORD    the user to create; the script asks for a password that is not set
//   ONEHOP_AUTH_DATABASE            the user's authentication database (admin); $external for X.509, without a password
//   ONEHOP_DATABASES                the databases that the user may read and write, comma-separated
//   ONEHOP_SHARD_ADMIN, ONEHOP_SHARD_ADMIN_PASSWORD   an administrator on each shard, who may create users. A cluster's
//                                   users are stored on its config servers only, so create this administrator once
//                                   on each shard, over the localhost exception
//   ONEHOP_SHARD_OPTIONS            options of the shards' URIs, such as tls=true&tlsCAFile=/etc/ssl/ca.pem
//
// A second run updates the password and the roles.

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
const data = need('ONEHOP_DATABASES').split(',').map(name => ({role: 'readWrite', db: name.trim()}));
const shardAdmin = need('ONEHOP_SHARD_ADMIN');

const hello = db.adminCommand({hello: 1});
if (hello.msg !== 'isdbgrid' && !hello.configsvr) throw new Error('this is neither a mongos nor a config server');

const credential = authDatabase === '$external' ? {} : {pwd: password('ONEHOP_PASSWORD', user)};
const shardAdminPassword = password('ONEHOP_SHARD_ADMIN_PASSWORD', shardAdmin + ' on the shards');

function makeUser(database, roles) {
  if (database.getUser(user)) {
    database.updateUser(user, {...credential, roles});
  } else {
    database.createUser({user, ...credential, roles});
  }
}

// The roles for the routing tables and the default concerns. Some operations go to a mongos, so the data's roles, too.
makeUser(db.getSiblingDB(authDatabase), [
  ...data, {role: 'read', db: 'config'}, {role: 'clusterMonitor', db: 'admin'}]);
print('config servers: ' + user + ' has its roles');

for (const shard of db.getSiblingDB('config').shards.find().toArray()) {
  const [set, hosts] = shard.host.split('/');
  const uri = 'mongodb://' + encodeURIComponent(shardAdmin) + ':' + encodeURIComponent(shardAdminPassword) + '@' +
    hosts + '/?replicaSet=' + set + '&authSource=admin' +
    (process.env.ONEHOP_SHARD_OPTIONS ? '&' + process.env.ONEHOP_SHARD_OPTIONS : '');
  const connection = Mongo(uri);
  const major = Number(connection.getDB('admin').runCommand({buildInfo: 1}).versionArray[0]);
  // From 8.0 on, a user needs this role for operations that do not come from a mongos.
  const roles = major >= 8 ? [...data, {role: 'directShardOperations', db: 'admin'}] : data;
  makeUser(connection.getDB(authDatabase), roles);
  print(shard._id + ': ' + user + ' has its roles' + (major >= 8 ? ', with directShardOperations' : ''));
}
