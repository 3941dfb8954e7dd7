package dev.onehop.routing.internal.direct;

/** Whom a router works for. */
enum Role {
  /** One application, which hands over to a mongos what is not certain to be right here. */
  APPLICATION,
  /** Many clients, to whom it is the mongos: there is none to hand anything to. */
  MONGOS
}
