package com.example;

import java.util.List;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

@Service
class Orders {
  private final OrderRepository repository;

  Orders(OrderRepository repository) {
    this.repository = repository;
  }

  /** Stores all orders or none: an order without an amount is refused. */
  @Transactional
  public Mono<Void> place(List<Order> orders) {
    return Flux.fromIterable(orders).concatMap(this::place).then();
  }

  private Mono<Order> place(Order order) {
    return repository
        .insert(order)
        .filter(placed -> placed.amount() > 0)
        .switchIfEmpty(
            Mono.error(() -> new IllegalArgumentException("no amount: " + order)));
  }

  Flux<Order> of(String customer) {
    return repository.findByCustomer(customer);
  }
}
